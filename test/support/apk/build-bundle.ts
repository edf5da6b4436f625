import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApkBuilder } from './apk-builder';
import { runTool } from './apk-tools';
import { type ZipFile } from './apk-zip';

/** The files of an APK, by name. */
export async function filesOfApk(builder: ApkBuilder, apk: string): Promise<ZipFile[]> {
  const { stdout } = await promisify(execFile)('unzip', ['-Z1', apk]);
  const names = stdout.split('\n').filter((name) => name !== '');
  return Promise.all(names.map(async (name) => ({ name, data: await builder.extract(apk, name) })));
}

/** The same app as a module of a bundle: what aapt2 makes of its XML and resources, at the places that bundles have. */
export async function moduleOfApk(builder: ApkBuilder, apk: string, module: string): Promise<ZipFile[]> {
  const converted = join(builder.folder, `${module}-as-proto.apk`);
  await runTool('aapt2', ['convert', '--output-format', 'proto', '-o', converted, apk]);
  const files = await filesOfApk(builder, converted);
  return files.map(({ name, data }) => ({ name: `${module}/${placeInModule(name)}`, data }));
}

function placeInModule(name: string): string {
  if (name === 'AndroidManifest.xml') return `manifest/${name}`;
  if (name.endsWith('.dex')) return `dex/${name}`;
  return /^(res|lib|assets)\/|^resources\.pb$/.test(name) ? name : `root/${name}`;
}

/** An APK as a file of an archive: stored as shops do it, unless a method is given. */
export async function innerApk(name: string, path: string, method = 0): Promise<ZipFile> {
  return { name, data: await readFile(path), method };
}
