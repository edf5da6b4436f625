import fc from 'fast-check';
import { runsEveryScene } from './scenes';

/** `npm run test:unit` sets PROPERTY_RUNS=few because one runs it after every few lines. */
const SHARE = process.env.PROPERTY_RUNS === 'few' ? 10 : runsEveryScene ? 1 : 3;

/** How many cases a property tries: all in `npm run test:all`, a third in `npm test` and a tenth in `npm run test:unit`. */
export const propertyRuns = (all: number): number => Math.ceil(all / SHARE);

// 100 is what fast-check tries where a property names no number.
fc.configureGlobal({ numRuns: propertyRuns(100) });

export { fc };
