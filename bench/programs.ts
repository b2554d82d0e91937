import { findProgram } from '../lab/program.ts'

/** The path of a program that a part can do without. The Debian package has the same name. */
export function programOf(name: string): string | undefined {
  try {
    return findProgram(name, name)
  } catch {
    return undefined
  }
}
