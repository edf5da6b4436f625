import { TrackerFinder } from '../../../services/workers/apk/code/find-trackers';
import catalogue from '../../../services/workers/apk/code/trackers.json';

const { trackers } = catalogue;

function namesOf(...descriptors: string[]): string[] {
  const finder = new TrackerFinder();
  for (const each of descriptors) finder.look(each);
  return finder.list().map(({ name }) => name);
}

describe('the list of trackers', () => {
  it('has the vendor of every row as its source, and says when it was compared', () => {
    const SITE = /^[a-z0-9.-]+\.[a-z]{2,}(\/[\w./-]+)?$/;
    expect(trackers.filter(({ source }) => !SITE.test(source))).toEqual([]);
    expect(catalogue.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(trackers.filter(({ compared }) => compared.length === 0).length).toBeLessThan(5);
    expect(trackers.length).toBeGreaterThan(250);
  });

  it('names each tracker and each package once, and no package that many vendors share', () => {
    const packages = trackers.flatMap(({ classes }) => classes);
    expect(new Set(packages).size).toBe(packages.length);
    expect(new Set(trackers.map(({ name }) => name)).size).toBe(trackers.length);
    expect(packages.filter((name) => !/^[a-z]\w*(\.\w+){1,7}$/.test(name))).toEqual([]);
    const shared = ['com.google', 'com.android', 'com.facebook', 'com.microsoft', 'com.amazon', 'com.tencent', 'com.huawei', 'com.baidu'];
    expect(packages.filter((name) => shared.includes(name))).toEqual([]);
  });

  it.each(trackers.flatMap(({ name, classes }) => classes.map((prefix) => [prefix, name])))('finds %s as %s', (prefix, name) => {
    expect(namesOf(`L${prefix.replaceAll('.', '/')}/a/B;`)).toContain(name);
  });
});

it('a class of another name that only begins alike is no tracker', () => {
  expect(namesOf('Lcom/adjust/sdkish/Main;', 'Lcom/adjustable/sdk/Main;', 'Lio/sentryway/A;', 'Landroidx/core/A;')).toEqual([]);
});
