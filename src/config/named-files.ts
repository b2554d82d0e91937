import { Type } from 'typebox'
import { OPTION_ID_GRAMMAR } from '../model/options/grammar.ts'
import type { ConfigDocument } from './document.ts'
import * as value from './values.ts'

/** Files for the options of exposures, by id. Callers name ids only. */
export interface NamedFiles {
  readonly passwords: Readonly<Record<string, string>>
  readonly authorities: Readonly<Record<string, string>>
  readonly snippets: Readonly<Record<string, string>>
}

const filesById = (folder: string, what: string) =>
  Type.Record(Type.String(), value.nginxPath(folder, what), { default: {} })

export const namedFilesSchema = (folder: string) =>
  Type.Object({
    passwords: filesById(folder, 'paths of files with users and hashed passwords'),
    authorities: filesById(folder, 'paths of files with the certificates of authorities'),
    snippets: filesById(folder, 'paths of files for nginx'),
  })

/** Refuses ids that no caller could name. */
export function checkNamedFiles(files: NamedFiles, document: ConfigDocument): NamedFiles {
  for (const [kind, byId] of Object.entries(files))
    for (const id of Object.keys(byId).filter((one) => !new RegExp(OPTION_ID_GRAMMAR).test(one)))
      document.refuse(
        ['options', kind, id],
        'is not valid. Allowed: ids of up to 32 small letters, digits and hyphens.',
      )
  return files
}
