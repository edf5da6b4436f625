import { ApkRefused } from '../apk-error';
import { type ByteSource } from '../bytes/byte-source';
import { openZip, type ZipArchive } from '../zip/open-zip';
import { MANIFEST, partOfApk, type OpenedApp } from './app-part';
import { isBundle, openBundle } from './open-bundle';
import { holdsApks, openApkSet } from './open-apk-set';
import { type OpenOptions } from './unpacker';

/**
 * Recognises an upload by its contents, never by its name: an APK, an Android App Bundle, or a set of APKs (XAPK, or APKS as bundletool
 * writes it). A file that Android would install as an APK is an APK, whatever else it holds.
 * @throws ApkRefused
 */
export async function openApp(source: ByteSource, options: OpenOptions): Promise<OpenedApp> {
  const archive = openZip(source);
  for (const anomaly of archive.anomalies) options.notes.add(anomaly);
  if (archive.entries.has(MANIFEST)) return openApk(archive);
  if (isBundle(archive)) return openBundle(archive, options.notes);
  if (holdsApks(archive)) return openApkSet(archive, options);
  throw new ApkRefused(
    'apk_malformed',
    `The archive is not an app: it has no ${MANIFEST}, no module of an app bundle (base/manifest/${MANIFEST}) and no APK in it.`,
  );
}

function openApk(archive: ZipArchive): OpenedApp {
  return { form: 'apk', base: partOfApk(archive, ''), others: [], listed: [], signed: [archive] };
}
