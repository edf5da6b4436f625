/** An alias has no example of its own: it takes its original's. */
export const EXAMPLE_OF: Readonly<Record<string, string>> = { '/api/v1/gst/refresh-captcha': '/gst/refresh_captcha' };

/** The calls that must come before a route's own, in order, each handing on its `sessionId`. */
export const STEPS_BEFORE: Readonly<Record<string, readonly string[]>> = {
  '/gst/data': ['/gst/start'],
  '/gst/refresh_captcha': ['/gst/start'],
  '/api/v1/gst/refresh-captcha': ['/gst/start'],
  '/aadhaar/captcha': ['/aadhaar/start'],
  '/aadhaar/otp': ['/aadhaar/start', '/aadhaar/captcha'],
};

/** What each step of a session workflow sends of the example's input, besides the sessionId. */
export const STEP_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/aadhaar/start': ['aadhaar'],
  '/aadhaar/captcha': ['captcha'],
  '/aadhaar/otp': ['otp'],
};
