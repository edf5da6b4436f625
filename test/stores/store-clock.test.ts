import { StoreClock } from '../../plugins/stores/store-clock';

/** A node whose wall clock can be set apart from the time that passes. */
function node() {
  const local = { wallMs: 1_000_000, passedMs: 0 };
  const clock = new StoreClock({ now: () => local.wallMs + local.passedMs, monotonic: () => local.passedMs });
  return { local, clock };
}

describe('the clock of all nodes', () => {
  it("is the node's own until the store has told its time", () => {
    const { clock } = node();
    expect(clock.now()).toBe(1_000_000);
  });

  it("is the store's from then on, whatever the node's own is set to", () => {
    const { local, clock } = node();
    clock.learn({ storeMs: 5_000_000, askedAt: 0, answeredAt: 2 });
    local.passedMs = 101;
    local.wallMs -= 600_000;
    expect(clock.now()).toBe(5_000_100);
  });

  it('goes on while the store is away, and follows the store when that is set', () => {
    const { local, clock } = node();
    clock.learn({ storeMs: 5_000_000, askedAt: 0, answeredAt: 0 });
    local.passedMs = 60_000;
    expect(clock.now()).toBe(5_060_000);
    clock.learn({ storeMs: 9_000_000, askedAt: 60_000, answeredAt: 60_002 });
    expect(clock.now()).toBe(8_999_999);
  });

  it('does not give a precise look up for a vague one, until the precise one is old', () => {
    const { local, clock } = node();
    clock.learn({ storeMs: 5_000_000, askedAt: 0, answeredAt: 2 });
    clock.learn({ storeMs: 5_000_000, askedAt: 250, answeredAt: 850 });
    local.passedMs = 1_000;
    expect(clock.now()).toBe(5_000_999);
    clock.learn({ storeMs: 5_100_300, askedAt: 100_000, answeredAt: 100_600 });
    local.passedMs = 100_600;
    expect(clock.now()).toBe(5_100_600);
  });
});
