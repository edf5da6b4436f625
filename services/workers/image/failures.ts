import { invalidInput, ServiceError } from '../../kit/errors';

/** 400: something is wrong with the picture itself. @param message reads as a sentence after the field's name */
export function badPicture(message: string, cause?: unknown): ServiceError {
  const { problem, options } = invalidInput([{ field: 'image', message }]);
  return new ServiceError(problem, cause === undefined ? options : { ...options, cause });
}

/** 502: the engine ran and found nothing to cut out. */
export function noForeground(): ServiceError {
  return new ServiceError('upstream_failed', {
    code: 'no_foreground',
    detail: 'No foreground could be told from the background of this image.',
    members: { reason: 'no_foreground' },
  });
}
