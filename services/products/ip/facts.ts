import { type ServiceFacts } from '../../kit/service/define-service';

export const ip = { name: 'ip', products: ['api-ip'] } as const satisfies ServiceFacts;
