import { type ServiceName } from './registry';
import { type WorkerKind } from '../kit/worker/load-proto';

interface OwnService {
  /** Products that it answers. */
  readonly products: readonly string[];
  /** Without them it answers nothing. */
  readonly workers: readonly WorkerKind[];
}

/** What must be known of our services without loading their code. A test compares it with the registry. */
export const OWN_SERVICES: Readonly<Record<ServiceName, OwnService>> = {
  aadhaar: { products: ['api-aadhaar'], workers: ['identity'] },
  app: { products: ['api-app'], workers: ['apk'] },
  'background-remover': { products: ['api-background-remover'], workers: [] },
  gdplay: { products: ['api-gdplay'], workers: [] },
  glead: { products: ['api-glead'], workers: ['ranking'] },
  grank: { products: ['api-grank'], workers: ['ranking'] },
  gst: { products: ['api-gst'], workers: ['identity'] },
  image: { products: ['api-image', 'api-background-remover'], workers: ['image'] },
  ip: { products: ['api-ip'], workers: [] },
  pincode: { products: ['api-pincode'], workers: [] },
  seo: { products: ['api-seo'], workers: ['seo'] },
  vahaan: { products: ['api-vahaan'], workers: [] },
};

/** @param name any text */
export function isServiceName(name: string): name is ServiceName {
  return Object.hasOwn(OWN_SERVICES, name);
}
