import { ServiceError } from '../../kit/errors';

/** Why Drive did not deliver a file: the `reason` of a 502. */
export type DriveFailureReason = 'quota' | 'unreachable' | 'bad_response' | 'not_authorised' | 'redirect_refused';

const DETAILS: Readonly<Record<DriveFailureReason, string>> = {
  quota: 'Google Drive does not deliver this file at present: its download quota is used up.',
  unreachable: 'Google Drive could not be reached.',
  bad_response: 'Google Drive sent an unusable response.',
  not_authorised: 'Google Drive does not accept the credentials of this service.',
  redirect_refused: 'Google Drive redirects to a host that this service does not connect to.',
};

/** 502. */
export function driveFailure(reason: DriveFailureReason, cause?: unknown): ServiceError {
  return new ServiceError('upstream_failed', { detail: DETAILS[reason], members: { reason }, cause });
}

/** 504. */
export function driveTimeout(cause?: unknown): ServiceError {
  return new ServiceError('upstream_timeout', { detail: 'Google Drive did not respond in time.', cause });
}

/** 404 for a missing file and for one that is not shared, because Drive does not distinguish them. */
export function fileNotFound(): ServiceError {
  return new ServiceError('not_found', { detail: 'The file does not exist, or is not shared with everyone who has the link.' });
}

/** 415. */
export function notPlayable(): ServiceError {
  return new ServiceError('media_type_unsupported', { detail: 'The file is neither video nor audio.' });
}
