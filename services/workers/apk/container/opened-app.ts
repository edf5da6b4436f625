import { type AppForm, type PartFacts } from '../report';
import { type ZipArchive } from '../zip/open-zip';
import { type AppPart } from './app-part';

/** An upload taken apart. */
export interface OpenedApp {
  readonly form: AppForm;
  /** Its manifest is the app's. */
  readonly base: AppPart;
  /** Looked through as the base is. */
  readonly others: readonly AppPart[];
  /** Everything in the upload, for the report; empty for an APK. */
  readonly listed: readonly PartFacts[];
  /** What is signed: the base first. */
  readonly signed: readonly [ZipArchive, ...ZipArchive[]];
}
