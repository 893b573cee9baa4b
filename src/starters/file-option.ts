import { Option } from '@commander-js/extra-typings';

/** `-f, --file FILE…`: spec files. */
export function fileOption() {
  return new Option('-f, --file <file...>', 'spec files; - reads standard input').makeOptionMandatory();
}
