const { default: TestSequencer } = require('@jest/test-sequencer');

/** By how long the slowest of such files take: the walk of all pages five to seven minutes, a unit test half a minute. */
const ORDER = [/\.browser\.test\.ts$/, /\.(system|measured)\.test\.ts$/, /\.stores\.test\.ts$/];

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
