/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

double plugin_meeting(void);

int main(void) {
  const double meeting = plugin_meeting();
  printf("%g patches meet\n", meeting);
  return meeting == 4 ? 0 : 1;
}
