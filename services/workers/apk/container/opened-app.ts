import { type AppForm, type PartFacts } from '../report';
import { type ZipArchive } from '../zip/open-zip';
import { type AppPart } from './app-part';

/** An upload, split into its parts. */
export interface OpenedApp {
  readonly form: AppForm;
  /** The part whose manifest is that of the app. */
  readonly base: AppPart;
  /** Other parts, which are scanned like the base. */
  readonly others: readonly AppPart[];
  /** Everything in the upload, for the report. Empty for an APK. */
  readonly listed: readonly PartFacts[];
  /** The signed archives, beginning with the base. */
  readonly signed: readonly [ZipArchive, ...ZipArchive[]];
}
