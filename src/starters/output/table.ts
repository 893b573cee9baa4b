import Table from 'cli-table3';

const none = '';

/**
 * Columns without lines, as kubectl prints them; the last one is not padded.
 *
 * @param rows cells may be coloured; of a cell of several lines the first is shown
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const made = new Table({
    head: [...head],
    chars: {
      top: none,
      'top-mid': none,
      'top-left': none,
      'top-right': none,
      bottom: none,
      'bottom-mid': none,
      'bottom-left': none,
      'bottom-right': none,
      left: none,
      'left-mid': none,
      mid: none,
      'mid-mid': none,
      right: none,
      'right-mid': none,
      middle: '  ',
    },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  for (const row of rows) made.push(row.map(firstLine));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function firstLine(cell: string): string {
  const [first = '', ...rest] = cell.split('\n');
  return rest.length === 0 ? first : `${first} …`;
}
