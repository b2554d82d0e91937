const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90s`, `30m`, `2h`, `7d` or bare seconds, as seconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 1)
}
