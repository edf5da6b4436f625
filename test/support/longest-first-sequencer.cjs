const { default: TestSequencer } = require('@jest/test-sequencer');

/**
 * Those that take a minute and more, the longest first (seconds on two cores: 110, 109, 108, 85, 78, 77, 75), then by how long the slowest of
 * such files take: a walk through pages or a fault a minute, a unit test seconds.
 */
const ORDER = [
  /\/scale\/replicas\.measured\.test\.ts$/,
  /\/shell\/pages\.browser\.test\.ts$/,
  /\/deploy\/production-tree\.system\.test\.ts$/,
  /\/walks\/own-api\.browser\.test\.ts$/,
  /\/faults\/processes\.measured\.test\.ts$/,
  /\/keys\/keys\.browser\.test\.ts$/,
  /\/image\/quality\.system\.test\.ts$/,
  /\/gateways\/acceptance\.system\.test\.ts$/,
  /\.(browser|measured)\.test\.ts$/,
  /\.system\.test\.ts$/,
  /\.stores\.test\.ts$/,
];

function rankOf({ path }) {
  const rank = ORDER.findIndex((each) => each.test(path));
  return rank === -1 ? ORDER.length : rank;
}

/**
 * Where no times of an earlier run are known, as on a clean checkout, jest begins with the largest files, and a short file that walks all
 * pages runs at the end, alone. What takes long begins first here, and short files fill the end.
 */
module.exports = class LongestFirstSequencer extends TestSequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rankOf(one) - rankOf(other));
  }
};
