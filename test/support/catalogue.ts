import { CATALOGUE_FILE, readCatalogue } from '../../services/kit/read-catalogue';

/** The catalogue as it ships. */
export const CATALOGUE = readCatalogue(CATALOGUE_FILE);
export const PRODUCTS = CATALOGUE.products;
