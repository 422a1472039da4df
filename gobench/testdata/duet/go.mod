module example.com/duet

go 1.24
