import { compareFigure, figuresOfBadging } from '../../support/apk/apk-figures';

const BADGING = `package: name='com.example.a' versionCode='7' versionName='1.2 b' platformBuildVersionName=''
sdkVersion:'21'
uses-permission: name='b.B' maxSdkVersion='28'
uses-permission-sdk-23: name='a.A'
uses-permission: name='c.C'
  uses-implied-permission: name='c.C' reason='targetSdkVersion < 4'
application-debuggable
native-code: 'x86' 'arm64-v8a'
alt-native-code: 'armeabi-v7a'`;

test('reads what aapt prints, and tells what the app leaves out from what aapt does not tell', () => {
  const figures = figuresOfBadging(BADGING);
  expect(figures).toEqual({
    package: 'com.example.a',
    'version code': '7',
    'version name': '1.2 b',
    'minimum SDK': '21',
    'target SDK': '(none)',
    permissions: 'a.A b.B',
    'native ABIs': 'arm64-v8a armeabi-v7a x86',
    debuggable: 'true',
  });
  expect(compareFigure('target SDK', { 'target SDK': '(none)' }, figures)).toBe('agreed');
  expect(compareFigure('target SDK', { 'target SDK': '30' }, figures)).toBe('differed');
  expect(compareFigure('signers', { signers: 'ab' }, figures)).toBe('not given');
});

test('does not count an absent debuggable line as something unsaid', () => {
  expect(figuresOfBadging("package: name='a.b' versionCode='' versionName=''")).toMatchObject({
    'version code': '(none)',
    'version name': '(none)',
    permissions: '(none)',
    debuggable: 'false',
  });
});
