import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { describeServices } from '../../../services/openapi/describe-services';
import { SERVICES } from '../services';

/** The document of all services, as the build writes it. @param baseUrl of the gateway, without a slash at the end */
export function buildDocument(baseUrl: string, catalogue: Catalogue): ReturnType<typeof describeServices> {
  return describeServices(Object.values(SERVICES), { baseUrl, catalogue });
}
