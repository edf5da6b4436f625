import { aadhaarService } from './aadhaar/routes';
import { appService } from './app/routes';
import { backgroundRemoverService } from './background-remover/routes';
import { gdplayService } from './gdplay/routes';
import { gleadService } from './glead/routes';
import { grankService } from './grank/routes';
import { gstService } from './gst/routes';
import { imageService } from './image/routes';
import { ipService } from './ip/routes';
import { type ServiceDefinition } from '../kit/service/define-service';
import { pincodeService } from './pincode/routes';
import { seoService } from './seo/routes';
import { vahaanService } from './vahaan/routes';

/** Every service by folder name. Add a product here and below: one without the other does not compile. */
export type ServiceName =
  'aadhaar' | 'app' | 'background-remover' | 'gdplay' | 'glead' | 'grank' | 'gst' | 'image' | 'ip' | 'pincode' | 'seo' | 'vahaan';

export const SERVICES: Readonly<Record<ServiceName, ServiceDefinition>> = {
  aadhaar: aadhaarService,
  app: appService,
  'background-remover': backgroundRemoverService,
  gdplay: gdplayService,
  glead: gleadService,
  grank: grankService,
  gst: gstService,
  image: imageService,
  ip: ipService,
  pincode: pincodeService,
  seo: seoService,
  vahaan: vahaanService,
};
