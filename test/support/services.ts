import { type ServiceDefinition } from '../../services/kit/service/define-service';
import { SERVICE_NAMES, type ServiceName } from '../../services/products/registry';

function load(name: ServiceName): ServiceDefinition {
  const module = jest.requireActual<Record<string, ServiceDefinition>>(`../../services/products/${name}/routes`);
  const service = Object.values(module).find((exported) => exported.name === name);
  if (!service) throw new Error(`no service ${name}`);
  return service;
}

/** Every service with its code, by name. */
export const SERVICES = Object.fromEntries(SERVICE_NAMES.map((name) => [name, load(name)])) as Record<ServiceName, ServiceDefinition>;
