import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { SERVICES } from '../products/registry';
import { describeServices } from './describe-services';

/**
 * The OpenAPI 3.1 document of everything behind the gateway.
 * @param baseUrl of the gateway as callers reach it, without a slash at the end
 */
export function buildDocument(baseUrl: string, catalogue: Catalogue): ReturnType<typeof describeServices> {
  return describeServices(Object.values(SERVICES), { baseUrl, catalogue });
}
