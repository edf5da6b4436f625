import { type ServiceFacts } from '../../kit/service/define-service';

export const gdplay = { name: 'gdplay', products: ['api-gdplay'] } as const satisfies ServiceFacts;
