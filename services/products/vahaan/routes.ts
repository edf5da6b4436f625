import { defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { vahaan } from './facts';

/** Only an index is published; there is no vehicle look-up. */
export const vahaanService = defineService({
  ...vahaan,
  routes: [indexRoute('ANY', '/vahaan')],
});
