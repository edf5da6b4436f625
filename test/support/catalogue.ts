import { catalogueFile, readCatalogue } from '../../services/kit/read-catalogue';

/** The catalogue as it ships. */
export const CATALOGUE = readCatalogue(catalogueFile({}));
export const PRODUCTS = CATALOGUE.products;
