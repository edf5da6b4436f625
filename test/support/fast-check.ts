import fc from 'fast-check';

/**
 * How many cases a property tries: all in `npm test` and where jest is called by hand, a tenth of them in `npm run test:unit`, which sets
 * PROPERTY_RUNS=few because one runs it after every few lines.
 */
export function propertyRuns(all: number): number {
  return process.env.PROPERTY_RUNS === 'few' ? Math.ceil(all / 10) : all;
}

// 100 is what fast-check tries where a property names no number.
fc.configureGlobal({ numRuns: propertyRuns(100) });

export { fc };
