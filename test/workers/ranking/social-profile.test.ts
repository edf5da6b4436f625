import { socialsOf } from '../../../services/workers/ranking/social-profile';

it.each([
  ['https://www.facebook.com/lotus.clinic', 'facebook'],
  ['http://instagram.com/lotus', 'instagram'],
  ['https://wa.me/918055501001', 'whatsapp'],
])('%s is the profile of a business on %s', (url, network) => expect(socialsOf(url)).toEqual([{ network, url }]));

it.each([null, '', 'https://lotus.example.com/', 'https://facebook.com.example.net/', 'https://notfacebook.com/', 'not a URL'])(
  '%j is none',
  (url) => expect(socialsOf(url)).toEqual([]),
);
