/* The program: names the command and hands over to it. */
int main(void)
{
    return 2;
}
