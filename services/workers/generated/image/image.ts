import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { ImageWorkerClient as _image_v1_ImageWorkerClient, ImageWorkerDefinition as _image_v1_ImageWorkerDefinition } from './image/v1/ImageWorker';
import type { RemoveBackgroundRequest as _image_v1_RemoveBackgroundRequest, RemoveBackgroundRequest__Output as _image_v1_RemoveBackgroundRequest__Output } from './image/v1/RemoveBackgroundRequest';
import type { RemoveBackgroundResponse as _image_v1_RemoveBackgroundResponse, RemoveBackgroundResponse__Output as _image_v1_RemoveBackgroundResponse__Output } from './image/v1/RemoveBackgroundResponse';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  image: {
    v1: {
      ImageWorker: SubtypeConstructor<typeof grpc.Client, _image_v1_ImageWorkerClient> & { service: _image_v1_ImageWorkerDefinition }
      RemoveBackgroundRequest: MessageTypeDefinition<_image_v1_RemoveBackgroundRequest, _image_v1_RemoveBackgroundRequest__Output>
      RemoveBackgroundResponse: MessageTypeDefinition<_image_v1_RemoveBackgroundResponse, _image_v1_RemoveBackgroundResponse__Output>
    }
  }
}

