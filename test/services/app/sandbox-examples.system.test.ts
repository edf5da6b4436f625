import { createHash } from 'node:crypto';
import { createApkExamples, SAMPLE_APK_SHA256 } from '../../../services/sandbox/app/apk-examples';
import { analyzeBytes } from '../../support/apk/apk-worker';

/** The bytes of a documented upload. */
function fileOf(outcome: string): Buffer {
  const example = createApkExamples().examples.find((each) => each.route === '/app/analyze' && each.outcome === outcome);
  const { base64 } = example?.input.file as { base64: string };
  return Buffer.from(base64, 'base64');
}

describe('the documented uploads yield what they say', () => {
  test('a report of the sample', async () => {
    const report = await analyzeBytes(fileOf('success'));
    expect(createHash('sha256').update(fileOf('success')).digest('hex')).toBe(SAMPLE_APK_SHA256);
    expect(report.package).toMatchObject({ name: 'com.example.sample', label: 'Sample', min_sdk: 24, target_sdk: 34 });
    expect(report.findings.map((each) => each.id)).toEqual(['unsigned', 'debuggable', 'permissions_dangerous', 'allow_backup']);
    expect(report.risk).toMatchObject({ score: 68.26, level: 'high' });
  });

  test('a report of the bundle', async () => {
    const report = await analyzeBytes(fileOf('bundle'));
    expect([report.form, report.package.name, report.package.label]).toEqual(['aab', 'com.example.sample', 'Sample']);
    expect([report.findings.map(({ id }) => id), report.risk.score, report.risk.level]).toEqual([['unsigned'], 50, 'high']);
  });

  test('refusals of the others', async () => {
    await expect(analyzeBytes(fileOf('not_an_apk'))).rejects.toMatchObject({ code: 'not_an_apk' });
    await expect(analyzeBytes(fileOf('malformed'))).rejects.toMatchObject({ code: 'apk_malformed' });
  });
});
