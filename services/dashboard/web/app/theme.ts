import { alpha, createTheme, type CSSVariablesResolver, type MantineTheme } from '@mantine/core';

/** Tints that badges, alerts and light buttons use. */
const TINTS = ['indigo', 'red', 'green', 'yellow', 'gray', 'orange'] as const;

/** Colour, type and radius come from services/dashboard/brand/tokens.css; one accent, small type: made for daily use. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--code-font)',
  radius: { sm: 'var(--radius)', md: 'var(--radius-large)' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '0.9375rem' } } },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 600 } },
    // Outside of main, the dialog's header would be a second banner of the page.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, attributes: { header: { role: 'presentation' } } } },
    Alert: { defaultProps: { variant: 'light' } },
    // The arrow adds nothing to the role.
    NativeSelect: { defaultProps: { rightSectionProps: { 'aria-hidden': true } } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show the password' } } },
  },
});

/** Mantine's names for the design's variables, in both schemes. Its indigo is the seller's accent. */
const SHARED = {
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-dimmed': 'var(--quiet)',
  '--mantine-color-anchor': 'var(--link)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--code)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-indigo-filled': 'var(--accent)',
  '--mantine-color-indigo-filled-hover': 'color-mix(in srgb, var(--accent), #000 14%)',
  '--mantine-color-indigo-light': 'var(--accent-ground)',
  '--mantine-color-indigo-light-hover': 'var(--accent-ground)',
  '--mantine-color-indigo-light-color': 'var(--link)',
  '--mantine-color-indigo-outline': 'var(--link)',
} as const;

/** Mantine's light tints and grey texts fall short of 4.5:1 on their backgrounds; these reach it in both schemes. */
export const resolveVariables: CSSVariablesResolver = ({ colors }: MantineTheme) => {
  const tint = (shade: number): Record<string, string> =>
    Object.fromEntries(TINTS.map((name) => [`--mantine-color-${name}-light-color`, colors[name]?.[shade] ?? 'inherit']));
  /** Mantine's own backgrounds are too loud beside each other. */
  const ground = (choose: (shades: readonly string[]) => string): Record<string, string> =>
    Object.fromEntries(TINTS.map((name) => [`--mantine-color-${name}-light`, choose(colors[name] ?? [])]));
  return {
    variables: {},
    light: {
      ...tint(9),

      ...ground((shades) => shades[0] ?? 'transparent'),
      ...SHARED,
      // The palest grey is invisible on white.
      '--mantine-color-gray-light': colors.gray[2],
      '--mantine-color-orange-light-color': '#a13a00',
      '--mantine-color-yellow-light-color': 'var(--warn)',
      '--mantine-color-green-light-color': 'var(--good)',
      '--mantine-color-red-filled': colors.red[9],
      '--mantine-color-placeholder': '#6b7280',
      '--mantine-color-error': colors.red[9],
    },
    dark: {
      ...tint(3),
      ...ground((shades) => alpha(shades[7] ?? '#000', 0.18)),
      ...SHARED,
      '--mantine-color-placeholder': '#94969b',
      '--mantine-color-error': colors.red[4],
      '--mantine-color-red-filled': colors.red[9],
    },
  };
};
