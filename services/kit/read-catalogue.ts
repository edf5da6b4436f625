import { join, relative } from 'node:path';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { parseCatalogue, TOO_LARGE } from '../../plugins/core/catalogue/parse-catalogue';
import { CATALOGUE_BOUNDS } from '../../plugins/core/catalogue/catalogue-schema';
import { type CatalogueProblem } from '../../plugins/core/catalogue/locate-problems';
import { readTextFile } from './read-text-file';

/** The folder of the example catalogue, relative to the project's folder, where processes run. */
export const EXAMPLE_CONFIG = 'kong';
const CATALOGUE_FILE = 'catalogue.yml';

/** Settings that name the seller's files. */
interface ConfigSettings {
  readonly TOLLGATE_CONFIG?: string | undefined;
  readonly CATALOGUE_FILE?: string | undefined;
}

/**
 * Path of the catalogue: in the folder that TOLLGATE_CONFIG names, unless CATALOGUE_FILE names another file. It may be relative to the
 * project's folder.
 */
export function catalogueFile({ TOLLGATE_CONFIG: folder, CATALOGUE_FILE: file }: ConfigSettings): string {
  return file || join(folder || EXAMPLE_CONFIG, CATALOGUE_FILE);
}

/** The catalogue cannot be used. Has every problem that was found in it. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    readonly file: string,
    readonly problems: readonly CatalogueProblem[],
  ) {
    super(`the catalogue cannot be used:\n${problems.map((problem) => `  ${describeProblem(file, problem)}`).join('\n')}`);
  }
}

/** `kong/catalogue.yml:12:7 products[0].prefix …`, which editors and terminals open at the place. */
export function describeProblem(file: string, { line, column, place, message }: CatalogueProblem): string {
  return `${file}:${line}:${column} ${place === '' ? '' : `${place}: `}${message}`;
}

/** The path relative to the folder in which processes run, if it lies there. */
function nameOf(file: string): string {
  const name = relative(process.cwd(), file);
  return name.startsWith('..') ? file : name;
}

/**
 * Reads the catalogue; once, at the start of a process that needs it.
 * @throws CatalogueError naming every problem; whatever reading the file throws
 */
export function readCatalogue(file: string): Catalogue {
  const text = readTextFile(file, CATALOGUE_BOUNDS.bytes);
  if (text === undefined) throw new CatalogueError(file, [TOO_LARGE]);
  const { catalogue, problems } = parseCatalogue(text, nameOf(file));
  if (!catalogue) throw new CatalogueError(file, problems);
  return catalogue;
}
