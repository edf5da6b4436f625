import { type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';

/**
 * A whole app in 907 bytes, in base64: package com.example.sample, debuggable, not signed, with one launcher activity and two
 * permissions. Made from its manifest alone with aapt and zipalign.
 */
const SAMPLE_APK = [
  'UEsDBBQAAgAIAAAAIQBj1MOTAwMAAIwIAAATAAAAQW5kcm9pZE1hbmlmZXN0LnhtbJVVu25TQRA960d883acQJzEeSGqSFwHRAGIJomCQAoI8UiRAsl5OLGI',
  'Hcu+iaBBiIKKgoKCD6BGFIiPQIiCD+AL+Ac4M97Fm2tbhLWO796zM2dmZ9brJAK8CQCDAj6ngAtojw/efJq4SmwRb4mPxA/iJ/GLSBkgTywRr4jXxHviG4EE',
  'MEHcJG4Rm8QTokG8I74TqSQwR4TEKnGfqBEviC/EV2IQJ9hDA01UcIQa1vi9S6Zz5R5KqOrKGHbIVFHnyiGZh/R4is1T1sDUGaxctNpf7WE+K3zvrplFRMsG',
  '9slHPWxSnlqakUvY5vyQbwMaaxvH9N9X/lCtAn4/Y55H1Ik43yWX4XqNswbZijJLOOBqRLsbKPLT5P4OaF2lZRNhzD60uy+SrzPLIlf2aFfs0IVGq5PfoV1J',
  '98a+k5HcI5Q1rypWmbdUcrdHDf/Hp93LQPOvkS9rfhG5nM091LqUtIdSqZDr7Tcgicvkljnr42xZ5633BK7guqof00d0LxHSLWDU4+qalXS86XVwpqOW3exC',
  '3OE+HmEdD/hc50zO3Nk817CCu+q5oiddeiS7qnDnUj+XSR/PmL/jQLsk6ydEhOd6xkJqlfTUyvmVZ6RnOuIOy1r/SLMQPeff0p/uyNf3Dk9ZS5QV3bPk0cpz',
  'j6dFOi15LPxDK+4RYoN6j6m3httaCxkvTaAdnEkYUyAaaWOaxBDndSIJYwwxSmQh0yzPnV5H+M0xoPXkO/lPHi8jy/kEPxl76gftU9Z4XWaN5YyeQdklkjmn',
  '59nNWo7XF8at3bhdH9b7qcWNWW5E4yqnvsKNxnwl3w2r6fI9Z/NNePmmvDzylkt7nNz1SVuTuJbEuOZpyDhvYxgvRh8xaXOb9PTifk4vfQa9vNXLe3rpLnob',
  '1t7xU11qkLH/XaI3bbmgXYOcPJ1WxtOa6aIlsQpWq2C5/i5aF70YMmatlhuuFv2ezVyPWszbePNeLeJ+Tm/A4xd66C1avUVPL+7n+MHYHhw/FKuT44djvXD8',
  'SOx3ZWK8+x3+AVBLAQIXAxQAAgAIAAAAIQBj1MOTAwMAAIwIAAATAAAAAAAAAAAAIAC2gQAAAABBbmRyb2lkTWFuaWZlc3QueG1sUEsFBgAAAAABAAEAQQAA',
  'ADQDAAAAAA==',
].join('');

/** SHA-256 of those bytes. */
export const SAMPLE_APK_SHA256 = '60f49d6238f8fcfe2f5064782b48c4eaab989bd392345928dec14fab4c378bff';

/** A bundle of the same package in 642 bytes, in base64: its manifest as aapt2 writes it for bundles, and nothing else. */
const SAMPLE_BUNDLE = [
  'UEsDBBQAAAAIAAAAIQCsOGMNDAAAAAoAAAAPAAAAQnVuZGxlQ29uZmlnLnBi4+IQYjPUMzTVMwMAUEsDBBQAAAAIAAAAIQBwXUppaAEAAFwDAAAhAAAAYmFzZS9tYW5pZm',
  'VzdC9BbmRyb2lkTWFuaWZlc3QueG1snZMxS8NAFMe9atuQItRM9aDLTaFg0laXdirtKFS00v2ZXNuQS3LkrtaxQl3E0U0HZ8HZTyL4MUS/gNc0hYoukRsOHn9+//97905/',
  'K+gtvQihG0eea9QmUvK2bQtnQgMQVlq3nCiwgft2TIWd1nBOQ1gLIPRGVEhSNYocHB/GFBtKbdErCDijlkgucqxnQBulSxoLLwp7kUsxahBlZT4sFlpzp52rI9L7F6wPAc',
  'XbDatuPioUOcsE2VNF7jE6cP3hCodzzVYS7PM2DVYlplHhDOQoioPu1GPucKONVJ4qzzO57/9yXyLDZUOFRt1Sx/xSKQj527+/Iay9Iv1FPdxUUHEgXJ/0MyXZDbzwxwyO',
  'khncrR+nQk4z8coS4jGVm8jDFfJjjSQ4r6HyPao9I/0J4RJwzjwHpBKTk2ybAIxFs65a0ynH+REwQROr+c3KqrNFOpmAeQYXlOHCIFly83q+0JKw72j5O74BUEsBAhQDFA',
  'AAAAgAAAAhAKw4Yw0MAAAACgAAAA8AAAAAAAAAAAAAAIABAAAAAEJ1bmRsZUNvbmZpZy5wYlBLAQIUAxQAAAAIAAAAIQBwXUppaAEAAFwDAAAhAAAAAAAAAAAAAACAATkA',
  'AABiYXNlL21hbmlmZXN0L0FuZHJvaWRNYW5pZmVzdC54bWxQSwUGAAAAAAIAAgCMAAAA4AEAAAAA',
].join('');

const APK_TYPE = 'application/vnd.android.package-archive';

const APK_FILE = { filename: 'sample.apk', content_type: APK_TYPE };

function upload(outcome: string, base64: string, yields: string, file = APK_FILE): SandboxExample {
  return {
    product: 'api-app',
    route: '/app/analyze',
    method: 'POST',
    outcome,
    // Send it as a file: decode it into the form field `file`, or send it as the body of this type.
    input: { file: { ...file, base64 } },
    yields,
  };
}

function get(route: string, yields: string): SandboxExample {
  return { product: 'api-app', route, method: 'GET', outcome: 'success', input: {}, yields };
}

const CERTIFICATE = { sha256: 'c0'.repeat(32), subject: 'CN=Example', debug: false };
const CAMERA = { name: 'android.permission.CAMERA', protection: 'dangerous', max_sdk: null, declared_by_app: false, requested: true };
const TRACKER = { name: 'Google Firebase Analytics', category: 'analytics' };
const MAIN = { name: 'com.example.sample.Main', exported: true, permission: null };

/** The parts of a report that a comparison needs. */
const EARLIER = {
  file: { size: 907, sha256: 'a1'.repeat(32) },
  package: { name: 'com.example.sample', version_name: '1.0', version_code: 1, min_sdk: 21, target_sdk: 33 },
  permissions: [],
  components: { activities: [MAIN], services: [], receivers: [], providers: [] },
  flags: { debuggable: true, allow_backup: true, uses_cleartext: false, test_only: false },
  signing: { certificates: [CERTIFICATE] },
  native_libraries: [],
  trackers: [],
  checked: [{ source: 'tracker_list', as_of: '2026-11-01', ok: true, entries: 269 }],
  secrets: [],
  urls: ['https://example.com/'],
  findings: [{ id: 'debuggable', severity: 'high', title: 'Debuggable' }],
  hardening: { score: 25, level: 'medium' },
  capability: { score: 0, level: 'low' },
  risk: { score: 25, level: 'medium', method: 'of the sandbox', complete: true },
};

/** The later report has a camera permission and a tracker, and is no longer debuggable. */
const LATER = {
  ...EARLIER,
  file: { size: 1_204, sha256: 'b2'.repeat(32) },
  package: { ...EARLIER.package, version_name: '1.1', version_code: 2 },
  permissions: [CAMERA],
  flags: { ...EARLIER.flags, debuggable: false },
  trackers: [TRACKER],
  findings: [{ id: 'permission_camera', severity: 'warning', title: 'Asks to take pictures and videos' }],
  hardening: { score: 0, level: 'low' },
  capability: { score: 6, level: 'low' },
  risk: { ...EARLIER.risk, score: 6, level: 'low' },
};

function comparison(outcome: string, input: object, yields: string): SandboxExample {
  return { product: 'api-app', route: '/app/compare', method: 'POST', outcome, input: { ...input }, yields };
}

/**
 * Documents the inputs of test keys. The same worker serves test keys and live keys. Only reputations are simulated: see `virustotal.ts`.
 */
export function createApkExamples(): SandboxUpstream {
  const encode = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
  return {
    name: 'apk-examples',
    examples: [
      get('/app', '200, the index of the product and how to upload'),
      get('/app/health', '200 while the analysis worker serves, else 503'),
      upload(
        'success',
        SAMPLE_APK,
        '200, the report of com.example.sample: unsigned, debuggable, allow_backup, permission_camera; hardening 65.5, high; capability 6, low; risk 65.5; reputation of 2 in 65 engines',
      ),
      upload(
        'bundle',
        SAMPLE_BUNDLE,
        '200, the report of com.example.sample as an app bundle (form aab): unsigned; hardening and risk 50, high; capability 0; a file of which VirusTotal knows nothing',
        {
          filename: 'sample.aab',
          content_type: 'application/octet-stream',
        },
      ),
      upload('not_an_apk', encode('This is no archive.'), '400 not_an_apk'),
      comparison(
        'success',
        { before: EARLIER, after: LATER },
        '200, of version 1.1 against 1.0: a permission and a tracker added, no longer debuggable; hardening 25 before, 0 after; capability 0 before, 6 after',
      ),
      comparison('no_report', { before: EARLIER, after: {} }, '400 invalid_request, which names what the report lacks'),
      upload('malformed', encode('PK\x03\x04 and nothing more'), '422 apk_malformed'),
    ],
  };
}
