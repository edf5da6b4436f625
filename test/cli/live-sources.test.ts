import { describeMissing, liveStates } from '../../cli/live-sources';

describe('the live state of the products', () => {
  it('names the setting of each product without a source, and no product without a route', () => {
    const states = liveStates({});
    expect(states.map(({ product }) => product)).not.toContain('api-vahan');
    expect(states.find(({ product }) => product === 'api-gst')).toMatchObject({ live: false, missing: ['GST_LINK_URL'] });
    expect(states.find(({ product }) => product === 'api-ip')).toMatchObject({ live: true, missing: [] });
    expect(describeMissing(['A', 'B'])).toBe('set A or B');
  });

  it('is live once any one of the settings is there', () => {
    const [grank] = liveStates({ RANKING_WEBSOCKET_URL: 'wss://ranking.example' }).filter(({ product }) => product === 'api-grank');
    expect(grank).toMatchObject({ live: true, missing: [] });
    expect(liveStates({ GST_LINK_URL: '' }).find(({ product }) => product === 'api-gst')?.live).toBe(false);
  });
});
