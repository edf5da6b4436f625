import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXAMPLE_NAMES } from '../../support/example-names';

const ROOT = resolve(__dirname, '../../..');

/** The example catalogue itself, its gateways' files, its services with their workers and sandbox, and what is known of these services. */
const EXAMPLE: readonly RegExp[] = [
  /^kong\/(catalogue|kong)\.yml$/,
  /^kong\/kubernetes\/(example\/|kong\.yaml$)/,
  /^kong\/gateways\/envoy\.yaml$/,
  /^services\/(products|sandbox|workers)\//,
  // The first migration is applied already and stays as it is.
  /^plugins\/stores\/postgres\/migrations\/0001_catalogue\.sql$/,
];

const files = ['plugins', 'cli', 'kong', 'services'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1)),
);

it('reads all that is not the example catalogue’s', () => {
  expect(files.filter((file) => !EXAMPLE.some((own) => own.test(file))).length).toBeGreaterThan(500);
  for (const own of EXAMPLE) expect(files.filter((file) => own.test(file))).not.toEqual([]);
});

it('names no product of the example catalogue outside of it', () => {
  const named = files
    .filter((file) => !EXAMPLE.some((own) => own.test(file)) && !/\.(png|ico|woff2|mmdb)$/.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (EXAMPLE_NAMES.test(line) ? [`${file}:${index + 1} ${line.trim().slice(0, 120)}`] : [])),
    );
  expect(named).toEqual([]);
});
