import { z } from 'zod';
import { type ServiceError } from '../../kit/errors';
import { driveFailure, driveTimeout, fileNotFound } from './drive-failure';
import { type DriveResponse, readWhole } from './drive-transport';
import { bareType } from './media-type';

const QUOTA_REASONS =
  /^(?:downloadQuotaExceeded|userRateLimitExceeded|rateLimitExceeded|dailyLimitExceeded|sharingRateLimitExceeded|quotaExceeded)$/;
/** Reasons that the caller cannot change: the seller's key is wrong, or may not use Drive. */
const KEY_REASONS =
  /^(?:keyInvalid|keyExpired|badRequest|accessNotConfigured|ipRefererBlocked|forbidden|authError|required|dailyLimitExceededUnreg)$/;
const QUOTA_PAGE = /quota exceeded|too many users have viewed or downloaded/i;
const LOGIN_PAGE = /accounts\.google\.com\/(?:v3\/)?(?:signin|ServiceLogin)|you need access|request access/i;

const apiError = z.object({ error: z.object({ errors: z.array(z.object({ reason: z.string() })).min(1) }) });

function reasonIn(text: string): string {
  try {
    return apiError.parse(JSON.parse(text)).error.errors[0]?.reason ?? '';
  } catch {
    return '';
  }
}

/** Judges by the status alone, for a body that gives no reason. */
function judgeStatus(status: number): ServiceError {
  const cause = new Error(`status ${status}`);
  if (status === 429) return driveFailure('quota', cause);
  if (status === 408 || status === 504) return driveTimeout(cause);
  if (status === 401 || status === 403 || status === 404 || status === 410) return fileNotFound();
  return driveFailure(status >= 500 ? 'unreachable' : 'bad_response', cause);
}

/** An error of the Drive API. */
export function judgeApiError(status: number, text: string): ServiceError {
  const reason = reasonIn(text);
  const cause = new Error(`status ${status}, reason ${reason}`);
  if (QUOTA_REASONS.test(reason)) return driveFailure('quota', cause);
  if (status < 500 && KEY_REASONS.test(reason)) return driveFailure('not_authorised', cause);
  return judgeStatus(status);
}

/** A web page where a file should be. */
export function judgePage(status: number, html: string): ServiceError {
  if (status >= 500 || status === 429) return judgeStatus(status);
  if (QUOTA_PAGE.test(html)) return driveFailure('quota', new Error('the quota page'));
  if (LOGIN_PAGE.test(html)) return fileNotFound();
  return judgeStatus(status);
}

export function isPage(response: DriveResponse): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(bareType(response.headers['content-type']));
}

/** Reads a response without a file, and returns the failure that it stands for. */
export async function judgeRefusal(response: DriveResponse): Promise<ServiceError> {
  const text = (await readWhole(response.body)).toString('utf8');
  return isPage(response) ? judgePage(response.status, text) : judgeApiError(response.status, text);
}
