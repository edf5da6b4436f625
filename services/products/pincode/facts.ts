import { type ServiceFacts } from '../../kit/service/define-service';

export const pincode = { name: 'pincode', products: ['api-pincode'] } as const satisfies ServiceFacts;
