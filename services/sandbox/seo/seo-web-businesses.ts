/** How the websites of the sandbox's businesses tell their e-mail addresses. Businesses without a line here tell none. */
const CONTENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'business-01': {
    '/': `<img src="/logo@2x.png" alt=""> Write to <a href="mailto:Hello@business-01.example.com?subject=Appointment">us</a>
      or to billing@business-01.example.com; this site was made by studio@agency.example.net.`,
  },
  'business-02': {
    '/': '<p>Open every day.</p><a href="/about-us">Who we are</a> <a href="/get-in-touch">Contact</a>',
    '/get-in-touch': '<address>desk@business-02.example.com</address>',
  },
  'business-03': { '/': '<p>Mail: orchid.dental@gmail.com</p>' },
  'business-05': { '/': '<p style="display:none">trap@business-05.example.com</p><!-- office@business-05.example.com -->' },
  'business-06': { '/': '<p>info [at] business-06 [dot] example.com</p>' },
};

/** What stands on a page of a business besides the usual; undefined for hosts that are none. */
export function businessContent(host: string, path: string): string | undefined {
  const [, name] = /^www\.(business-\d\d)\.example\.com$/.exec(host) ?? [];
  return name === undefined ? undefined : (CONTENTS[name]?.[path] ?? '<p>We look forward to your visit.</p>');
}
