import { describeMissing, liveStates } from '../../cli/live-sources';
import { CATALOGUE } from '../support/catalogue';

const stateOf = (env: NodeJS.ProcessEnv, id: string) => liveStates(env, CATALOGUE).find(({ product }) => product === id);
const liveOf = (env: NodeJS.ProcessEnv, id: string): boolean | undefined => stateOf(env, id)?.live;

describe('the live state of the products', () => {
  it('names the setting of each product without a source, and no product without a route', () => {
    expect(stateOf({}, 'api-vahan')).toBeUndefined();
    const missing = ['GST_LINK_URL', 'GST_PORTAL_URL with GST_PORTAL_ACKNOWLEDGEMENT'];
    expect(stateOf({}, 'api-gst')).toMatchObject({ live: false, missing });
    expect(stateOf({}, 'api-ip')).toMatchObject({ live: true, missing: [] });
    expect(describeMissing(['A', 'B'])).toBe('set A or B');
  });

  it('is live once any one of the settings is there', () => {
    expect(stateOf({ RANKING_WEBSOCKET_URL: 'wss://ranking.example' }, 'api-grank')).toMatchObject({ live: true, missing: [] });
    expect(liveOf({ GST_LINK_URL: '' }, 'api-gst')).toBe(false);
  });

  it('is not live with half of a source', () => {
    const provider = { AADHAAR_PROVIDER_URL: 'https://otp.example' };
    expect([liveOf(provider, 'api-aadhaar'), liveOf({ ...provider, AADHAAR_PROVIDER_KEY: 'k' }, 'api-aadhaar')]).toEqual([false, true]);
    expect(liveOf({ GST_PORTAL_URL: 'https://portal.example' }, 'api-gst')).toBe(false);
    expect(liveOf({ GST_PORTAL_URL: 'https://portal.example', GST_PORTAL_ACKNOWLEDGEMENT: 'x' }, 'api-gst')).toBe(true);
  });
});
