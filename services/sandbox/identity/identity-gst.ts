import { CAPTCHA_TEXTS } from './identity-captcha';
import { createLinkServer, errorMessage, showNextCaptcha, solves, textOf, type LinkReply, type Message } from './identity-link';
import { type SandboxExample } from '../sandbox-upstream';

/** Numbers with their own outcome. Every other number has a record. All pass the check character. */
export const GSTINS = {
  success: '27AAACR5055K1Z7',
  notFound: '27AAACZ0404K1ZG',
  processingFailed: '27AAACZ0500K1ZJ',
  unexpected: '27AAACZ0512K1ZF',
  upstreamError: '27AAACZ0502K1ZH',
  timeout: '27AAACZ0504K1ZF',
} as const;

const WRONG_CAPTCHA = 'WRONG';
const FLOW = 'after GET /gst/start, with its sessionId added';

function data(outcome: string, input: Readonly<Record<string, unknown>>, yields: string): SandboxExample {
  return { product: 'api-gst', route: '/gst/data', method: 'POST', outcome, input, yields: `${FLOW}: ${yields}` };
}

const [firstCaptcha, secondCaptcha] = CAPTCHA_TEXTS;

export const gstExamples: readonly SandboxExample[] = [
  { product: 'api-gst', route: '/gst', method: 'GET', outcome: 'success', input: {}, yields: '200, the index of the product' },
  {
    product: 'api-gst',
    route: '/gst/start',
    method: 'GET',
    outcome: 'success',
    input: {},
    yields: `200, a sessionId and the image of a captcha that says ${firstCaptcha}`,
  },
  {
    product: 'api-gst',
    route: '/gst/refresh_captcha',
    method: 'GET',
    outcome: 'success',
    input: {},
    yields: `${FLOW}: 200, a captcha that says ${secondCaptcha}; the captchas of a session say ${CAPTCHA_TEXTS.join(', ')}, in this order`,
  },
  data('success', { GSTIN: GSTINS.success, captcha: firstCaptcha }, '200, the record; every number not listed here has one'),
  data(
    'captcha_rejected',
    { GSTIN: GSTINS.success, captcha: WRONG_CAPTCHA },
    `502 captcha_rejected with the next captcha, ${secondCaptcha}`,
  ),
  data('not_found', { GSTIN: GSTINS.notFound, captcha: firstCaptcha }, '502 not_found'),
  data('timeout', { GSTIN: GSTINS.timeout, captcha: firstCaptcha }, '504, the link never answers'),
  data('upstream_error', { GSTIN: GSTINS.upstreamError, captcha: firstCaptcha }, '502, the link reports that it failed'),
  data('unexpected_response', { GSTIN: GSTINS.unexpected, captcha: firstCaptcha }, '502, the link answers with something unusable'),
];

/** Outcomes of the link alone, because the tax portal has no such errors. */
export const gstLinkExamples: readonly SandboxExample[] = [
  data(
    'processing_failed',
    { GSTIN: GSTINS.processingFailed, captcha: firstCaptcha },
    '500, the link took the data and could not process them',
  ),
];

/**
 * The record that every upstream of this product returns for a registration.
 * @param gstin fifteen characters
 */
export function registrationRecord(gstin: string): Message {
  const place = 'Unit 12, Sandbox Chambers, Fort, Mumbai, Maharashtra, 400001';
  return {
    gstin,
    lgnm: `SANDBOX TRADERS ${gstin.slice(2, 7)} PRIVATE LIMITED`,
    tradeNam: `SANDBOX TRADERS ${gstin.slice(2, 7)}`,
    sts: 'Active',
    dty: 'Regular',
    ctb: 'Private Limited Company',
    rgdt: '01/07/2017',
    cxdt: '',
    nba: ['Retail Business', 'Wholesale Business'],
    stj: `State - ${gstin.slice(0, 2)}, Division - SANDBOX, Charge - SANDBOX_001`,
    ctj: 'Commissionerate - SANDBOX, Division - I, Range - I',
    pradr: { adr: place, ntr: ['Retail Business'] },
    adadr: [],
    ntcrbs: 'TRD',
    einvoiceStatus: 'No',
    lstupdt: '01/04/2024',
  };
}

function resultFor(gstin: string): LinkReply {
  switch (gstin) {
    case GSTINS.notFound:
      return errorMessage('not_found');
    case GSTINS.processingFailed:
      return errorMessage('processing');
    case GSTINS.upstreamError:
      return errorMessage('upstream');
    case GSTINS.unexpected:
      return { type: 'result', payload: 'Service Temporarily Unavailable' };
    case GSTINS.timeout:
      return undefined;
    default:
      return { type: 'result', payload: registrationRecord(gstin) };
  }
}

/** The link of the tax registry: `start`, `refresh`, `data`. */
export const serveGstLink = (): ReturnType<typeof createLinkServer> =>
  createLinkServer({
    answer(message, session, { end }) {
      if (message.type === 'refresh') {
        session.solved = false;
        return showNextCaptcha(session);
      }
      if (message.type !== 'data') return errorMessage('upstream');
      if (!solves(session, textOf(message, 'captcha'))) return errorMessage('captcha_rejected');
      session.solved = true;
      const result = resultFor(textOf(message, 'gstin'));
      if (result?.type === 'result') end();
      return result;
    },
  });
