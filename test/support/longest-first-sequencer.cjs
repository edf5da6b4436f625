const { default: TestSequencer } = require('@jest/test-sequencer');

/** By how long such files take at most: the pages of the dashboard 7 minutes, a unit test 2 seconds. */
const ORDER = [/\.browser\.test\.ts$/, /\.system\.test\.ts$/, /\.stores\.test\.ts$/];

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
