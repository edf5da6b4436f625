import { type ServiceFacts } from '../../kit/service/define-service';

export const glead = { name: 'glead', products: ['api-glead'], workers: ['ranking'] } as const satisfies ServiceFacts;
