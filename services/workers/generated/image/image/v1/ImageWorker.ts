// Original file: protos/image/v1/image.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { RemoveBackgroundRequest as _image_v1_RemoveBackgroundRequest, RemoveBackgroundRequest__Output as _image_v1_RemoveBackgroundRequest__Output } from '../../image/v1/RemoveBackgroundRequest';
import type { RemoveBackgroundResponse as _image_v1_RemoveBackgroundResponse, RemoveBackgroundResponse__Output as _image_v1_RemoveBackgroundResponse__Output } from '../../image/v1/RemoveBackgroundResponse';

export interface ImageWorkerClient extends grpc.Client {
  RemoveBackground(argument: _image_v1_RemoveBackgroundRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  RemoveBackground(argument: _image_v1_RemoveBackgroundRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  RemoveBackground(argument: _image_v1_RemoveBackgroundRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  RemoveBackground(argument: _image_v1_RemoveBackgroundRequest, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  removeBackground(argument: _image_v1_RemoveBackgroundRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  removeBackground(argument: _image_v1_RemoveBackgroundRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  removeBackground(argument: _image_v1_RemoveBackgroundRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  removeBackground(argument: _image_v1_RemoveBackgroundRequest, callback: grpc.requestCallback<_image_v1_RemoveBackgroundResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface ImageWorkerHandlers extends grpc.UntypedServiceImplementation {
  RemoveBackground: grpc.handleUnaryCall<_image_v1_RemoveBackgroundRequest__Output, _image_v1_RemoveBackgroundResponse>;
  
}

export interface ImageWorkerDefinition extends grpc.ServiceDefinition {
  RemoveBackground: MethodDefinition<_image_v1_RemoveBackgroundRequest, _image_v1_RemoveBackgroundResponse, _image_v1_RemoveBackgroundRequest__Output, _image_v1_RemoveBackgroundResponse__Output>
}
