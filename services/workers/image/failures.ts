import { invalidInput, ServiceError } from '../../kit/errors';

/** 400: something is wrong with the picture itself. @param message reads as a sentence after the field's name */
export function badPicture(message: string, cause?: unknown): ServiceError {
  const { problem, options } = invalidInput([{ field: 'image', message }]);
  return new ServiceError(problem, cause === undefined ? options : { ...options, cause });
}

/** 502: there is nothing to cut out, for example in a picture of one colour. */
export function noForeground(): ServiceError {
  return new ServiceError('upstream_failed', {
    code: 'no_foreground',
    detail: 'No foreground could be distinguished from the background of this image.',
    members: { reason: 'no_foreground' },
  });
}

/**
 * The 502 for a foreground that is too unclear to count as a success. It is never charged.
 * @param confidence from 0 to 1, below what the engine requires; 0 when it found no cut-out at all
 */
export function cutOutUncertain(confidence: number): ServiceError {
  const accept = confidence > 0 ? ' With accept_uncertain=true you get the cut-out anyway.' : '';
  return new ServiceError('upstream_failed', {
    code: 'cutout_uncertain',
    detail: `The foreground cannot be distinguished from the background with enough certainty.${accept}`,
    members: { reason: 'cutout_uncertain', confidence },
  });
}
