import { backgroundRemoverService } from './background-remover/routes';
import { type ServiceDefinition } from './kit/define-service';
import { vahaanService } from './vahaan/routes';

/** Every service by folder name. Add a product here and below: one without the other does not compile. */
export type ServiceName = 'background-remover' | 'vahaan';

export const SERVICES: Readonly<Record<ServiceName, ServiceDefinition>> = {
  'background-remover': backgroundRemoverService,
  vahaan: vahaanService,
};
