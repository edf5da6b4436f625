import { describeMissing, liveStates } from '../../cli/live-sources';
import { CATALOGUE } from '../support/catalogue';

describe('the live state of the products', () => {
  it('names the setting of each product without a source, and no product without a route', () => {
    const states = liveStates({}, CATALOGUE);
    expect(states.map(({ product }) => product)).not.toContain('api-vahan');
    expect(states.find(({ product }) => product === 'api-gst')).toMatchObject({
      live: false,
      missing: ['GST_LINK_URL', 'GST_PORTAL_URL with GST_PORTAL_ACKNOWLEDGEMENT'],
    });
    expect(states.find(({ product }) => product === 'api-ip')).toMatchObject({ live: true, missing: [] });
    expect(describeMissing(['A', 'B'])).toBe('set A or B');
  });

  it('is live once any one of the settings is there', () => {
    const [grank] = liveStates({ RANKING_WEBSOCKET_URL: 'wss://ranking.example' }, CATALOGUE).filter(
      ({ product }) => product === 'api-grank',
    );
    expect(grank).toMatchObject({ live: true, missing: [] });
    expect(liveStates({ GST_LINK_URL: '' }, CATALOGUE).find(({ product }) => product === 'api-gst')?.live).toBe(false);
  });

  it('is not live with half of a source', () => {
    const liveOf = (env: NodeJS.ProcessEnv, id: string): boolean | undefined =>
      liveStates(env, CATALOGUE).find(({ product }) => product === id)?.live;
    const provider = { AADHAAR_PROVIDER_URL: 'https://otp.example' };
    expect([liveOf(provider, 'api-aadhaar'), liveOf({ ...provider, AADHAAR_PROVIDER_KEY: 'k' }, 'api-aadhaar')]).toEqual([false, true]);
    expect(liveOf({ GST_PORTAL_URL: 'https://portal.example' }, 'api-gst')).toBe(false);
    expect(liveOf({ GST_PORTAL_URL: 'https://portal.example', GST_PORTAL_ACKNOWLEDGEMENT: 'x' }, 'api-gst')).toBe(true);
  });
});
