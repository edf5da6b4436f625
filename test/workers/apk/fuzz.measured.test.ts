import { readFile } from 'node:fs/promises';
import { ApkBuilder, RELEASE_KEY } from '../../support/apk/apk-builder';
import { FULL_APP } from '../../support/apk/apk-samples';
import { fuzzAnalysis } from '../../support/apk/apk-fuzz';
import { writeZip } from '../../support/apk/apk-zip';
import { expectMeasured, isMeasured } from '../../support/measured';

/** Set for a longer run. */
const ROUNDS = Number(process.env.APK_FUZZ_ROUNDS ?? (isMeasured ? 10_000 : 300));
const SEED = Number(process.env.APK_FUZZ_SEED ?? 1);

let builder: ApkBuilder;
afterAll(() => builder?.close());

it('every mutation of an APK ends in a report or a refusal, and soon', async () => {
  builder = await ApkBuilder.create();
  const unsigned = await builder.build('full', FULL_APP);
  const signed = await builder.sign(unsigned, 'signed', { key: RELEASE_KEY, v1: true, v2: true, v3: true });
  const names = [
    'AndroidManifest.xml',
    'resources.arsc',
    'classes.dex',
    'res/xml/network.xml',
    'META-INF/MANIFEST.MF',
    'META-INF/RELEASE.SF',
    'META-INF/RELEASE.RSA',
  ];
  const parts = await Promise.all(names.map(async (name) => ({ name, data: await builder.extract(signed, name) })));
  // Stored, so that a mutation reaches the formats inside instead of failing at the archive's checksums.
  const rebuild = (changed: typeof parts): Buffer => writeZip(changed.map((each) => ({ ...each, method: 0 })));
  const result = await fuzzAnalysis({ whole: await readFile(signed), parts, rebuild, rounds: ROUNDS, seed: SEED });
  expect(result.failures).toEqual([]);
  expect(result.reports + result.refusals).toBe(ROUNDS);
  // The mutations have to get past the first check to be worth anything.
  expect(result.reports).toBeGreaterThan(ROUNDS / 10);
  expectMeasured(result.slowestMs, 10_000);
}, 600_000);
