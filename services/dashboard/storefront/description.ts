import { createCatalogue, type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type ApiDocumentParts, describeApi, type DescribedApi } from '../../openapi/describe-api';
import { readOperations } from './operations';
import { packApi, type PackedApi } from './shown-api';

/** The input of a description. It can be copied to a thread. */
export interface DescriptionInput {
  /** JSON that the build wrote from our services. */
  readonly built: string;
  /** The name of the installation. */
  readonly title: string;
  readonly products: readonly CatalogueProduct[];
  /** Documents that products bring along, as JSON in their normal form. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The API's present description, in bytes that a thread can transfer. */
export interface Description {
  /** The OpenAPI document, as JSON. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** The same in the form that pages show. */
  readonly shown: PackedApi;
  readonly leftOut: DescribedApi['leftOut'];
}

/** Describes our services and whatever else is sold. The build's licence covers our own services only. */
export function describeSold({ built: text, title, products, documents }: DescriptionInput): Description {
  const built = JSON.parse(text) as ApiDocumentParts;
  const own = new Map([...documents].map(([id, json]) => [id, JSON.parse(json) as unknown]));
  const { document, leftOut } = describeApi(built, createCatalogue(products), own);
  const { license, ...info } = built.info;
  const isOurs = info.title === title && Object.keys(built.paths).some((path) => path in document.paths);
  const described = JSON.stringify({ ...document, info: { ...info, title, ...(isOurs && { license }) } });
  return { text: new TextEncoder().encode(described), shown: packApi(readOperations(described), products), leftOut };
}
