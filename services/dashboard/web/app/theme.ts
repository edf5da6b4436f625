import { alpha, createTheme, type CSSVariablesResolver, type MantineTheme } from '@mantine/core';

/** Tints that badges, alerts and light buttons use. */
const TINTS = ['indigo', 'red', 'green', 'yellow', 'gray', 'orange'] as const;

/** One accent, the system's own font, small type: made for daily use. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '0.9375rem' } } },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 600 } },
    // Outside of main its header would be a second banner of the page.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, attributes: { header: { role: 'presentation' } } } },
    Alert: { defaultProps: { variant: 'light' } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show the password' } } },
  },
});

/** Mantine's light tints and grey texts fall short of 4.5:1 on their backgrounds; these reach it in both schemes. */
export const resolveVariables: CSSVariablesResolver = ({ colors }: MantineTheme) => {
  const tint = (shade: number): Record<string, string> =>
    Object.fromEntries(TINTS.map((name) => [`--mantine-color-${name}-light-color`, colors[name]?.[shade] ?? 'inherit']));
  /** Mantine's own grounds are loud beside one another. */
  const ground = (choose: (shades: readonly string[]) => string): Record<string, string> =>
    Object.fromEntries(TINTS.map((name) => [`--mantine-color-${name}-light`, choose(colors[name] ?? [])]));
  return {
    variables: {},
    light: {
      ...tint(9),
      ...ground((shades) => shades[0] ?? 'transparent'),
      // The palest grey is no ground at all on white.
      '--mantine-color-gray-light': colors.gray[2],
      '--mantine-color-orange-light-color': '#a13a00',
      '--mantine-color-yellow-light-color': '#8a4b00',
      '--mantine-color-green-light-color': '#1f6b32',
      '--mantine-color-dimmed': colors.gray[7],
      '--mantine-color-red-filled': colors.red[9],
      '--mantine-color-placeholder': '#6b7280',
      '--mantine-color-error': colors.red[9],
    },
    dark: {
      ...tint(3),
      ...ground((shades) => alpha(shades[7] ?? '#000', 0.18)),
      '--mantine-color-dimmed': '#a6a7ab',
      '--mantine-color-placeholder': '#94969b',
      '--mantine-color-error': colors.red[4],
      '--mantine-color-red-filled': colors.red[9],
    },
  };
};
