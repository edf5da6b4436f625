import { type ServiceFacts } from '../../kit/service/define-service';

export const vahaan = { name: 'vahaan', products: ['api-vahaan'] } as const satisfies ServiceFacts;
