import { type ServiceFacts } from '../../kit/service/define-service';

export const grank = { name: 'grank', products: ['api-grank'], workers: ['ranking'] } as const satisfies ServiceFacts;
