import { endOf } from './end.ts'

endOf('trixie')
